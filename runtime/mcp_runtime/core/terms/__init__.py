"""The terms of a session: revisions, capabilities, extensions, tolerances."""
