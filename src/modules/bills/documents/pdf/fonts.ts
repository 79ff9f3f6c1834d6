import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../../config/project-root.js';

/** Latin, Greek, Cyrillic and most signs; its figures are of one width, so that columns line up; free to embed. */
const FILES = { regular: 'DejaVuSans', bold: 'DejaVuSans-Bold' } as const;

export type FontName = keyof typeof FILES;

export type Font = {
  name: FontName;
  has(codePoint: number): boolean;
  /** By the widths of its characters, whatever stands beside them. */
  widthPt(text: string, sizePt: number): number;
  /** Gives back what it remembers of texts that it has drawn: of 10,000 lines that would be 150 MB. */
  forget(): void;
};

export type Fonts = Record<FontName, Font>;

const readFont = (file: string): Buffer =>
  readFileSync(join(projectRoot, 'node_modules', 'dejavu-fonts-ttf', 'ttf', `${file}.ttf`));

/** Embeds the fonts into a document, which keeps of them what it uses. */
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

/** Read once a thread, which is most of the work of a short invoice. */
const parsed = new Map<FontName, Parsed>();

function register(doc: PDFKit.PDFDocument, name: FontName): Font {
  // as: it takes a font that has been read as well
  doc.registerFont(name, (parsed.get(name) ?? readFont(FILES[name])) as Buffer);
  // as: the types leave out what a font can be asked; a test would see it go
  const { _font: embedded } = doc.font(name) as unknown as Embedded;
  parsed.set(name, embedded.font);
  // a glyph remembers which character it was first wanted for, and another document's would be copied out of this one
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
    forget() {
      embedded.layoutCache = Object.create(null) as object;
    },
  };
}
