import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../config/project-root.js';

/**
 * Covers Latin, Greek, Cyrillic and most symbols. Its digits have equal widths, so that columns align. Free
 * to embed.
 */
const FILES = { regular: 'DejaVuSans', bold: 'DejaVuSans-Bold' } as const;

export type FontName = keyof typeof FILES;

export type Font = {
  name: FontName;
  has(codePoint: number): boolean;
  /** The sum of the characters' widths, without kerning. */
  widthPt(text: string, sizePt: number): number;
  /** Clears the cache of laid-out texts, which would take 150 MB for 10,000 lines. */
  clearCache(): void;
};

export type Fonts = Record<FontName, Font>;

const readFont = (file: string): Buffer =>
  readFileSync(join(projectRoot, 'node_modules', 'dejavu-fonts-ttf', 'ttf', `${file}.ttf`));

/** Registers the fonts in a document. The document embeds only the glyphs that it uses. */
export const registerFonts = (doc: PDFKit.PDFDocument): Fonts => ({
  regular: register(doc, 'regular'),
  bold: register(doc, 'bold'),
});

type Parsed = { hasGlyphForCodePoint(codePoint: number): boolean; _glyphs: object };

type Embedded = {
  _font: {
    font: Parsed;
    widthOfString(text: string, sizePt: number): number;
    layoutCache?: object;
  };
};

/** Read once per thread, which is most of the work of a short invoice. */
const parsed = new Map<FontName, Parsed>();

function register(doc: PDFKit.PDFDocument, name: FontName): Font {
  // pdfkit accepts a parsed font, but its types do not.
  doc.registerFont(name, (parsed.get(name) ?? readFont(FILES[name])) as Buffer);
  // The types lack the embedded font's properties. A test would detect their removal.
  const { _font: embedded } = doc.font(name) as unknown as Embedded;
  parsed.set(name, embedded.font);
  // A glyph caches the character for which it was first used, and another document's text would be copied out
  // of this one.
  embedded.font._glyphs = {};
  const widths = new Map<string, number>();
  function widthOf(character: string): number {
    const width = widths.get(character) ?? embedded.widthOfString(character, 1);
    widths.set(character, width);
    return width;
  }
  return {
    name,
    has: (codePoint) => embedded.font.hasGlyphForCodePoint(codePoint),
    widthPt(text, sizePt) {
      let width = 0;
      for (const character of text) width += widthOf(character);
      return width * sizePt;
    },
    clearCache() {
      embedded.layoutCache = Object.create(null) as object;
    },
  };
}
