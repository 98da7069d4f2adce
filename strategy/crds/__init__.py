"""CustomResourceDefinitions and custom objects: the rules of definitions, schemas compiled once, and objects judged by them.

schema_reader     decodes the schema of a definition
definition        rules of a definition, with structural, schema_rules, subresource_rules, conversion_rules beside it
compiled          a schema compiled into nodes: what pruning, defaulting and validation walk
resource          a custom resource of one definition: the request function for its objects
"""
