/** Gives a file to the person. */
export function saveFile(content: Blob | string, name: string, type = 'text/csv'): void {
  const url = URL.createObjectURL(typeof content === 'string' ? new Blob([content], { type }) : content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
