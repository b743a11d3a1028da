"""The calls of other libraries, computed by this one."""
