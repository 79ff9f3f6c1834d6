/** Writes the image to the folder `layout`, and as one archive to `<layout>.tar`. */
export function writeImage(image: {
  base: string;
  application: string;
  layout: string;
  revision: { version: string; commit: string; epoch: number };
}): Promise<void>;
