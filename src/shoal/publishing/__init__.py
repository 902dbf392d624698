"""Publishing a release: names, tables, manifest, files, and the check before anything appears.

``release.py`` has what a release is, ``tables.py`` how its boxes are written (``geojson.py``),
``manifest.py`` what may be told about it, ``self_check.py`` the check, ``outputs.py`` the files, ``checkpoint.py`` the
folder from which a killed run goes on, ``record_names.py`` the random names.
"""
