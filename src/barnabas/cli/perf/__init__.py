"""What the performance tools count and print: payloads, rates, latencies, metrics and times as Java formats them."""
