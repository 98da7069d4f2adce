"""Pages for one person on this machine: an HTTP server on loopback that rejects everyone else.

`podstrat play` and `podstrat live` are sites of it. What makes it safe is in `guard` and `server`; what every page looks like and
how it shows text is in `static`.
"""
