"""Committed runs, one JSON file each, as `cilbook run` wrote them.

Installed as `cilbook.committed`. Do not edit a file; make the run again.
"""
