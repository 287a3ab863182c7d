"""`barnabas up`: a cluster on this machine, with its settings and its data in one folder."""
