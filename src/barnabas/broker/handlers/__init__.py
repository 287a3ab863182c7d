"""The handlers of a broker's listeners, one file for each family of APIs."""
