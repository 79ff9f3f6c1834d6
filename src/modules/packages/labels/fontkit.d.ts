// fontkit has no types of its own; this is what the labels use of it.
declare module 'fontkit' {
  export type Font = {
    unitsPerEm: number;
    glyphForCodePoint(codePoint: number): { advanceWidth: number };
    hasGlyphForCodePoint(codePoint: number): boolean;
  };
  export function create(data: Uint8Array): Font;
}
