"""What a slice's rows look like (seed story of C9): in a form that merges, in figures, and against history."""
