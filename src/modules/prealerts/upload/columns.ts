import { CUSTOMER_CODE_NAMES, type ColumnTable } from '../../../platform/files/columns.js';

export type Column = 'tracking_number' | 'user_code' | 'vendor' | 'description' | 'reference';

// The rules and maximum lengths are those of the schema PrealertSubmission.
export const COLUMNS: ColumnTable<Column> = {
  // The reader of scans judges the characters of a number.
  tracking_number: {
    kind: 'scan',
    maxChars: 255,
    isRequired: true,
    names: [
      'trackingnumber',
      'tracking',
      'trackingno',
      'trackingid',
      'guia',
      'numerodeguia',
      'nodeguia',
      'numerodeseguimiento',
      'numeroderastreo',
      'rastreo',
    ],
  },
  user_code: {
    kind: 'code',
    maxChars: 100,
    isRequired: true,
    names: CUSTOMER_CODE_NAMES,
  },
  vendor: {
    kind: 'line',
    maxChars: 255,
    isRequired: false,
    names: [
      'vendor',
      'shipper',
      'shop',
      'store',
      'merchant',
      'supplier',
      'tienda',
      'vendedor',
      'remitente',
      'proveedor',
    ],
  },
  description: {
    kind: 'text',
    maxChars: 2_000,
    isRequired: false,
    names: [
      'description',
      'contents',
      'content',
      'item',
      'items',
      'descripcion',
      'contenido',
      'articulo',
      'articulos',
    ],
  },
  reference: {
    kind: 'code',
    maxChars: 255,
    isRequired: false,
    names: [
      'reference',
      'order',
      'ordernumber',
      'orderno',
      'orderid',
      'referencia',
      'pedido',
      'numerodepedido',
      'orden',
    ],
  },
};
