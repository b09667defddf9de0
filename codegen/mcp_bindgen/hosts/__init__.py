"""The settings of hosts, the programs that a user talks to: their place and their form."""
