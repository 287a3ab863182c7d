"""What the outside must offer: narrow protocols that the runtime and the simulator both implement."""
