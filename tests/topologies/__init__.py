"""Stores of several kinds, each started as processes in a folder of its own: one server, Sentinel, Cluster."""
