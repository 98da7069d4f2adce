"""The language server: diagnostics, hover, completion and fixes for manifests in an editor.

- command: `podstrat lsp`, on standard input and output
- server: the protocol, by pygls
- analysis: a file as the check sees it
- cursor: the place in the object that the cursor is at, also while the YAML is incomplete
- fields: what is known of a field: type, allowed values, default, gate, release
- diagnostics, hover, completion, actions: each an answer of the protocol made from those
"""
