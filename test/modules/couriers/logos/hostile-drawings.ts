import { svg } from '../../../support/readers/pictures.js';

/** Nested clip paths set by style: 8 to the power of 6. */
export const CLIP_BOMB = svg(
  `<clipPath id="c0"><rect width="9" height="9"/></clipPath>${Array.from(
    { length: 6 },
    (_, n) =>
      `<clipPath id="c${n + 1}">${`<rect style="clip-path:url(#c${n})" width="9" height="9"/>`.repeat(8)}</clipPath>`,
  ).join('')}<rect style="clip-path:url(#c6)" width="10" height="10"/>`,
);
