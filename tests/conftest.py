"""What all tests need."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Shells start what they run in the background deaf to Ctrl-C, and whatever a test starts would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
