"""What the console tools read and write: lines that become records, and records that become lines."""
