"""How the world is asked: the routes of versions 1 and 0, their answers, and who may ask how often."""
