"""The quorum's consensus as values in and values out: no clock, socket, file, thread or logger lives here."""
