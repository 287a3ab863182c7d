"""Groups of the newer protocol (KIP-848): the coordinator assigns, and members move towards it one by one."""
