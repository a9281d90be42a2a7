"""The schemas of Kubernetes' API that the chart's documents have to satisfy."""
