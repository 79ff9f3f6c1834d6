// The allowlist for SVG logos. It excludes filters, patterns, markers, animations and `use`, whose rendering
// cost is unbounded, and scripts, foreign content and links, which execute or load something.

export const ELEMENTS = [
  ...['svg', 'g', 'a', 'switch', 'defs', 'title', 'desc', 'metadata', 'style'],
  ...['path', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon', 'image', 'text', 'tspan'],
  ...['linearGradient', 'radialGradient', 'stop', 'clipPath', 'mask'],
];

/** Presentation attributes, which style sheets may set too. */
const PROPERTIES = [
  ...['color', 'fill', 'fill-opacity', 'fill-rule', 'clip-rule', 'opacity', 'paint-order', 'shape-rendering'],
  ...['stroke', 'stroke-width', 'stroke-opacity', 'stroke-linecap', 'stroke-linejoin', 'stroke-miterlimit'],
  ...[
    'stroke-dasharray',
    'stroke-dashoffset',
    'stop-color',
    'stop-opacity',
    'vector-effect',
    'color-interpolation',
  ],
  ...[
    'clip-path',
    'mask',
    'mask-type',
    'display',
    'visibility',
    'overflow',
    'image-rendering',
    'text-rendering',
  ],
  ...['font', 'font-family', 'font-size', 'font-style', 'font-weight', 'font-variant', 'font-stretch'],
  ...[
    'letter-spacing',
    'word-spacing',
    'text-anchor',
    'text-decoration',
    'dominant-baseline',
    'baseline-shift',
  ],
  ...['alignment-baseline', 'writing-mode', 'direction', 'mix-blend-mode', 'isolation', 'line-height'],
  ...['enable-background', 'white-space', 'transform', 'transform-origin', 'transform-box'],
];

export const ATTRIBUTES = [
  ...PROPERTIES,
  ...['xmlns', 'xmlns:xlink', 'xlink:href', 'href', 'xml:space', 'id', 'class', 'style', 'version', 'lang'],
  ...[
    'viewBox',
    'preserveAspectRatio',
    'width',
    'height',
    'x',
    'y',
    'x1',
    'y1',
    'x2',
    'y2',
    'dx',
    'dy',
    'rotate',
  ],
  ...[
    'cx',
    'cy',
    'r',
    'rx',
    'ry',
    'fx',
    'fy',
    'fr',
    'd',
    'points',
    'pathLength',
    'textLength',
    'lengthAdjust',
  ],
  ...['offset', 'gradientUnits', 'gradientTransform', 'spreadMethod', 'clipPathUnits', 'maskUnits'],
  ...['maskContentUnits', 'systemLanguage', 'requiredExtensions', 'requiredFeatures', 'type', 'media'],
];

const ALLOWED = new Set(PROPERTIES);

/** Returns a style sheet, or the declarations of one element, without properties that are not allowed. */
export function cleanStyle(css: string): string {
  return css.includes('{')
    ? css.replace(/\{([^{}]*)\}/g, (_rule, declarations: string) => `{${cleanDeclarations(declarations)}}`)
    : cleanDeclarations(css);
}

const cleanDeclarations = (declarations: string): string =>
  declarations
    .split(';')
    .filter((each) => each.trim() === '' || ALLOWED.has((each.split(':')[0] ?? '').trim().toLowerCase()))
    .join(';');
