"""Computing slices: inputs as views, the query or function, one partition replaced, its rules checked."""
