import type { Dialect } from '../../../support/samples/spreadsheets.js';

/** Names with the accents of Spanish, French and Portuguese, an apostrophe, a separator and quotes. */
export const CUSTOMERS = [
  ['user_code', 'first_name', 'last_name', 'branch'],
  ['SHEET-1', 'José', 'Peña', 'Kingston'],
  ['SHEET-2', 'María Inés', 'García Núñez', 'May Pen, Clarendon'],
  ['SHEET-3', 'Renée', "O'Neil", 'The "Mall"; Portmore'],
];
export const ASCII = CUSTOMERS.map((row) => row.map((cell) => cell.normalize('NFD').replace(/\p{M}/gu, '')));
export const PREALERTS = [
  ['Tracking Number', 'Mailbox', 'Shop', 'Contents'],
  ['SHEET1Z999AA1', 'IEX-1001', 'Café Olé', 'Shoes, size 9'],
  ['SHEET1Z999AA2', 'IEX-1002', 'Example "Books"', 'Año nuevo'],
];
export const SPANISH = [['Nº de Guía', 'Casillero', 'Tienda', 'Descripción'], ...PREALERTS.slice(1)];

export const EXCEL = { lineEnd: '\r\n' } as const;
export const GOOGLE = { encoding: 'UTF-8', lineEnd: '\r\n', endsLastLine: false } as const;
export const LIBRE = { encoding: 'UTF-8', lineEnd: '\n' } as const;

export type Import = 'uploadCustomers' | 'uploadPrealerts';

export type Case = [name: string, id: Import, table: string[][], dialect: Dialect];
