"""What provenn is installed with: an inventory for others, and an audit of it that needs no network."""
