"""Pages people forward: self-contained HTML that prints well, with drawn cards and charts."""
