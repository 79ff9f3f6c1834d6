import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

export type Behaviour = {
  /** The answer to ~HS; undefined: none. */
  status?: string;
  /** Destroys the connection after so many bytes of a label. */
  cutAfter?: number;
  /** Waits so long before it closes its side of the connection; negative: never. */
  closeAfterMs?: number;
};

/** A label printer's raw port. */
export type LabelPrinter = {
  address: string;
  behaviour: Behaviour;
  /** The complete labels that arrived, oldest first. */
  labels: string[];
  connections: number;
  /** Called with each part of a label. */
  onLabel: () => void;
  /** Refuses connections, as a printer that is switched off. */
  switchOff(): Promise<void>;
  switchOn(): Promise<void>;
};

const STATUS_QUERY = '~HS\n';
const STX = '\u0002';
const ETX = '\u0003\r\n';

/** The three lines of a printer, in the order of the programming guide. */
export const statusOf = ({ isOutOfPaper = false, isPaused = false, isOpen = false } = {}): string =>
  [
    `030,${Number(isOutOfPaper)},${Number(isPaused)},1218,000,0,0,0,000,0,0,0`,
    `000,0,${Number(isOpen)},0,0,2,4,0,00000000,1,000`,
    '1234,0',
  ]
    .map((line) => `${STX}${line}${ETX}`)
    .join('');

export async function startLabelPrinter(behaviour: Behaviour = {}): Promise<LabelPrinter> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, serve);
  let port = 0;

  function serve(socket: Socket): void {
    printer.connections += 1;
    let text = '';
    sockets.add(socket);
    socket
      .setEncoding('utf8')
      .on('close', () => sockets.delete(socket))
      .on('error', () => undefined)
      .on('data', (chunk: string) => {
        text += chunk;
        if (text.startsWith(STATUS_QUERY)) {
          text = text.slice(STATUS_QUERY.length);
          if (printer.behaviour.status !== undefined) socket.write(printer.behaviour.status);
        }
        if (text !== '') printer.onLabel();
        const { cutAfter } = printer.behaviour;
        if (cutAfter !== undefined && text.length >= cutAfter) socket.resetAndDestroy();
      })
      .on('end', () => {
        printer.labels.push(...(text.match(/\^XA[\s\S]*?\^XZ/g) ?? []));
        const { closeAfterMs = 0 } = printer.behaviour;
        if (closeAfterMs >= 0) setTimeout(() => socket.end(), closeAfterMs);
      });
  }

  const printer: LabelPrinter = {
    address: '',
    behaviour,
    labels: [],
    connections: 0,
    onLabel: () => undefined,
    async switchOff() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
    async switchOn() {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      // A TCP server has an address of this kind.
      ({ port } = server.address() as AddressInfo);
      printer.address = `tcp://127.0.0.1:${port}`;
    },
  };
  await printer.switchOn();
  return printer;
}
