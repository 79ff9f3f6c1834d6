import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { headerOf, parseMail, type Attachment } from '../receivers/mime.js';
import { until } from '../service/processes.js';

export type SentMail = {
  to: string;
  subject: string;
  text: string;
  html: string;
  attachments: Attachment[];
  /** With names in lower case and decoded values. */
  headers: Record<string, string>;
};

/** A folder to which mail is written when SES is not configured. */
export type Outbox = {
  folder: string;
  /** Returns the mails to an address, oldest first. */
  to(address: string): Promise<SentMail[]>;
  /** Waits until there are `count` mails to an address and returns them. */
  untilSent(address: string, count: number): Promise<SentMail[]>;
  remove(): Promise<void>;
};

export async function openOutbox(): Promise<Outbox> {
  const folder = await mkdtemp(join(tmpdir(), 'crossdock-outbox-'));
  const outbox: Outbox = {
    folder,
    async to(address) {
      const files = (await readdir(folder)).filter((name) => name.endsWith('.eml')).sort();
      const mails = await Promise.all(files.map(async (name) => read(await readFile(join(folder, name)))));
      return mails.filter(({ to }) => to.includes(address));
    },
    async untilSent(address, count) {
      await until(async () => (await outbox.to(address)).length >= count);
      return outbox.to(address);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
  return outbox;
}

function read(bytes: Buffer): SentMail {
  const mail = parseMail(bytes);
  return {
    to: headerOf(mail, 'to'),
    subject: headerOf(mail, 'subject'),
    text: mail.parts['text/plain; charset=utf-8'] ?? '',
    html: mail.parts['text/html; charset=utf-8'] ?? '',
    attachments: mail.attachments,
    headers: Object.fromEntries(mail.headers),
  };
}
