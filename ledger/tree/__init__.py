"""The Merkle tree over the leaves: hashes alone."""
