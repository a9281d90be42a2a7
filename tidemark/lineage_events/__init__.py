"""OpenLineage events of runs, sent by OpenLineage's own client.

Other catalogs read the inputs of each slice from them.
"""
