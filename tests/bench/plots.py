"""Bars as SVG: a panel for each measured thing, a bar for each server. Lines: one for each store."""

from xml.sax.saxutils import escape

COLOURS = {"vedette": "#0072b2", "zabbix-7.0": "#d55e00", "zabbix-6.0": "#e69f00"}
WIDTH, COLUMNS, GAP, MARGIN = 1000, 2, 40, 24
TITLE_HEIGHT, PANEL_TITLE, BAR, NAME_WIDTH, VALUE_WIDTH = 64, 30, 26, 112, 118

# Of lines, told apart by people who do not see all colours, too (Okabe and Ito's palette).
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#565656")
PLOT_HEIGHT, AXIS, DASHES = 420, 70, ("", "8 4", "2 4")


def text(x, y, words, size=14, anchor="start", weight="normal", colour="#222"):
    return ('<text x="%.1f" y="%.1f" font-family="sans-serif" font-size="%d" text-anchor="%s" '
            'font-weight="%s" fill="%s">%s</text>') % (x, y, size, anchor, weight, colour,
                                                       escape(words))


def number(x):
    """Three digits that say something."""
    if x >= 1000:
        return "{:,.0f}".format(float("%.3g" % x))
    shown = "%.3g" % x
    return shown if "e" not in shown else "%.4f" % x


def bars(title, remark, panels):
    """An SVG. `panels` = [(title, unit, [(server, name, value or None)])]."""
    rows = (len(panels) + COLUMNS - 1) // COLUMNS
    width = (WIDTH - 2 * MARGIN - GAP * (COLUMNS - 1)) / COLUMNS
    height = PANEL_TITLE + BAR * max(len(panel[2]) for panel in panels) + GAP / 2
    total = TITLE_HEIGHT + rows * height + MARGIN
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">'
             % (WIDTH, total, WIDTH, total),
             '<rect width="100%" height="100%" fill="#fff"/>',
             text(MARGIN, 32, title, 20), text(MARGIN, 52, remark, 13, colour="#666")]
    for at, panel in enumerate(panels):
        x = MARGIN + (at % COLUMNS) * (width + GAP)
        y = TITLE_HEIGHT + (at // COLUMNS) * height
        parts += draw(panel, x, y, width)
    return "\n".join(parts + ["</svg>", ""])


def draw(panel, x, y, width):
    title, unit, rows = panel
    room = width - NAME_WIDTH - VALUE_WIDTH
    most = max([value for _, _, value in rows if value] or [1])
    yield text(x, y + 18, title, 15)
    for at, (server, name, value) in enumerate(rows):
        top = y + PANEL_TITLE + at * BAR
        yield text(x + NAME_WIDTH - 8, top + 15, name, 13, "end")
        if value is None:
            yield text(x + NAME_WIDTH, top + 15, "not measured", 13, colour="#888")
            continue
        length = max(room * value / most, 1.5)
        yield '<rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="2" fill="%s"/>' % (
            x + NAME_WIDTH, top, length, BAR - 6, COLOURS[server])
        yield text(x + NAME_WIDTH + length + 6, top + 15, (number(value) + " " + unit).strip(), 13)


def lines(title, remark, axes, ideal, measured):
    """An SVG. `axes` = names of both; `ideal` = points of what could be; `measured` = {name: points}."""
    most = [max(point[of] for points in [ideal, *measured.values()] for point in points) or 1
            for of in (0, 1)]
    left, top, room = MARGIN + AXIS, TITLE_HEIGHT + 24, WIDTH - 2 * MARGIN - AXIS - 190
    bottom = top + PLOT_HEIGHT

    def place(point):
        return "%.1f,%.1f" % (left + room * point[0] / most[0],
                              bottom - PLOT_HEIGHT * point[1] / most[1])

    def line(points, colour, dashes):
        return '<polyline points="%s" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>' % (
            " ".join(place(point) for point in points), colour, dashes)

    total = bottom + 48
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">'
             % (WIDTH, total, WIDTH, total), '<rect width="100%" height="100%" fill="#fff"/>',
             text(MARGIN, 32, title, 20), text(MARGIN, 52, remark, 13, colour="#666")]
    for part in range(5):
        y = bottom - PLOT_HEIGHT * part / 4
        parts += ['<path d="M%.1f %.1fh%.1f" stroke="#e2e2e2"/>' % (left, y, room),
                  text(left - 8, y + 5, number(most[1] * part / 4), 13, "end")]
    for x, _ in ideal:
        parts.append(text(left + room * x / most[0], bottom + 18, number(x), 13, "middle"))
    parts += [text(left + room / 2, bottom + 38, axes[0], 13, "middle", colour="#666"),
              text(MARGIN, top - 8, axes[1], 13, colour="#666"),
              line(ideal, "#999", "3 3")]
    for at, (name, points) in enumerate([("ideal", ideal), *measured.items()]):
        colour, dashes = ("#999", "3 3") if at == 0 else (
            LINES[(at - 1) % len(LINES)], DASHES[(at - 1) // len(LINES) % len(DASHES)])
        y = top + 12 + at * 22
        if at:
            parts.append(line(points, colour, dashes))
        parts += ['<path d="M%.1f %.1fh24" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>' % (
            left + room + 16, y - 4, colour, dashes), text(left + room + 48, y, name, 13)]
    return "\n".join(parts + ["</svg>", ""])
