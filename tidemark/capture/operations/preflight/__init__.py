"""What has to be so before anything is captured: declarations, topics, databases; one function a question."""
