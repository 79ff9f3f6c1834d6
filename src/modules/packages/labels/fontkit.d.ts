// fontkit ships no types. This declares the part that labels use.
declare module 'fontkit' {
  export type Font = {
    unitsPerEm: number;
    glyphForCodePoint(codePoint: number): { advanceWidth: number };
    hasGlyphForCodePoint(codePoint: number): boolean;
  };
  export function create(data: Uint8Array): Font;
}
