import MailComposer from 'nodemailer/lib/mail-composer';
import { oneLine } from './plain-text.js';

export type Message = {
  /** The same whenever the message is tried again; it makes the Message-ID. */
  id: string;
  /** Shown beside our own address. */
  senderName: string;
  recipient: { name: string; address: string };
  subject: string;
  text: string;
  html: string;
  date: Date;
};

/** The message as it travels (RFC 5322): ASCII, in lines that every server takes. */
export function toMime(message: Message, from: string): Promise<Buffer> {
  const { id, senderName, recipient, subject, text, html, date } = message;
  const composer = new MailComposer({
    from: { name: oneLine(senderName), address: from },
    to: { name: oneLine(recipient.name), address: recipient.address },
    subject: oneLine(subject),
    messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    date,
    // an answering machine must not answer it (RFC 3834)
    headers: { 'Auto-Submitted': 'auto-generated' },
    text,
    html,
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

const MAX_ADDRESS = 254;

/** Whether mail can be sent to this, and to this alone: a profile may be older than the checks of its fields. */
export const isAddress = (text: string): boolean =>
  text.length <= MAX_ADDRESS && /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(text);
