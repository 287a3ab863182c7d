"""Classic groups: members meet in generations, and one of them assigns the partitions."""
