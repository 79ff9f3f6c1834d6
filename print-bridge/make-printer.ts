import type { PrintBridgeConfig } from './config.js';
import { makeFolderPrinter } from './folder-printer.js';
import type { Printer } from './printer.js';
import { makeTcpPrinter } from './tcp-printer.js';

export const makePrinter = ({ printer, printerTimeoutMs }: PrintBridgeConfig): Printer =>
  printer.kind === 'folder' ? makeFolderPrinter(printer.path) : makeTcpPrinter(printer, printerTimeoutMs);
