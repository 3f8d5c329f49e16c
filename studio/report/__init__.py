"""Pictures and pages for people: HTML, SVG. No Qt."""
