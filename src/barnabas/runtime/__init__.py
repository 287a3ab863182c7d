"""The real world behind the ports: files and clocks of this machine."""
