"""What must be so on this machine before the warehouse can run on it: one function a question, each gives a Finding."""
