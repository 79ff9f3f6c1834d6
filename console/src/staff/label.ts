import { settings } from '../device/settings.js';
import { api } from '../session/session.js';
import type { Download } from '../../../sdk/typescript/src/index.js';

/** Prints a parcel's label on this device. A person who asks for it gets it although the station prints none by itself. */
export async function printLabel(
  packageId: string,
  format: 'pdf' | 'zpl' = settings.value.labels === 'zpl' ? 'zpl' : 'pdf',
): Promise<void> {
  const file = await api().packages.label({ package_id: packageId, format });
  if (format === 'zpl') await saveFile(file, `label-${packageId}.zpl`);
  else await printFile(file);
}

/** Saves a file in the folder for downloads. */
export async function saveFile(file: Download, otherwise: string): Promise<void> {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await file.blob());
  link.download = file.filename ?? otherwise;
  link.click();
  // The browser has opened the file by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

let frame: HTMLIFrameElement | undefined;

/** Opens the browser's print dialog for a PDF. In kiosk printing, the browser prints without asking. */
async function printFile(file: Download): Promise<void> {
  const address = URL.createObjectURL(await file.blob());
  frame?.remove();
  const created = document.createElement('iframe');
  frame = created;
  created.className = 'unseen';
  created.title = 'Label';
  created.tabIndex = -1;
  created.addEventListener('load', () => {
    created.contentWindow?.print();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  });
  created.src = address;
  document.body.append(created);
}
