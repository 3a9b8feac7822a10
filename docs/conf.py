"""How Sphinx builds the documentation: `make docs`. Nothing in it is fetched from elsewhere, now or by the reader."""

from provenn import __version__

project = "provenn"
copyright = "the provenn developers"
version = release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "  # a copied example can be pasted
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp ~ .c1"  # comments after a prompt, such as exit statuses: zsh passes them on
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = True
napoleon_google_docstring = False
napoleon_use_rtype = False
myst_enable_extensions = ["deflist"]
exclude_patterns = ["_build"]
nb_execution_mode = "off"  # a test runs the notebooks, and sees that they show what is written in them
nb_ipywidgets_js = {}  # scripts from elsewhere
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"provenn {__version__}"
html_show_sphinx = False
html_copy_source = False
