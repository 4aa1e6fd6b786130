"""Pictures of results: those of ``heldout.plots``, and those that pages have besides. A page draws them as SVG."""
