"""What a broker answers, a family of APIs a file."""
