import { execFileSync, spawnSync } from 'node:child_process';
import { PDFiumLibrary, type PDFiumDocument } from '@hyzyla/pdfium';

let library: ReturnType<typeof PDFiumLibrary.init> | undefined;

async function withDocument<Result>(
  bytes: Buffer,
  work: (document: PDFiumDocument) => Result | Promise<Result>,
): Promise<Result> {
  library ??= PDFiumLibrary.init();
  const document = await (await library).loadDocument(bytes);
  try {
    return await work(document);
  } finally {
    document.destroy();
  }
}

/** The text of each page, a line of it a line. */
export const pagesOf = (bytes: Buffer): Promise<string[]> =>
  withDocument(bytes, (document) =>
    [...document.pages()].map((page) => page.getText().replaceAll('\r\n', '\n')),
  );

/** How many pixels of the first page, drawn at a point a pixel, have the colour, give or take 8 of 255. */
export const pixelsOf = (bytes: Buffer, [red, green, blue]: [number, number, number]): Promise<number> =>
  withDocument(bytes, async (document) => {
    const { data } = await document.getPage(0).render({ scale: 1 });
    const isNear = (at: number, value: number) => Math.abs((data[at] ?? 0) - value) <= 8;
    let count = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (isNear(at, red) && isNear(at + 1, green) && isNear(at + 2, blue)) count += 1;
    }
    return count;
  });

const hasPdfToText = spawnSync('pdftotext', ['-v']).error === undefined;

/** As poppler reads it, in lines with one space between the cells; undefined where the machine has none. */
export function popplerText(bytes: Buffer): string | undefined {
  if (!hasPdfToText) return undefined;
  const text = execFileSync('pdftotext', ['-layout', '-', '-'], { input: bytes }).toString();
  return text.replace(/ +/g, ' ').replace(/^ /gm, '');
}
