// Airlines with freight from Miami, by the IATA prefix of their air waybills.
export const AIRLINES = {
  '001': 'American Airlines',
  '006': 'Delta Air Lines',
  '016': 'United Airlines',
  '023': 'FedEx Express',
  '027': 'Alaska Airlines',
  '106': 'Caribbean Airlines',
  '272': 'Kalitta Air',
  '369': 'Atlas Air',
  '406': 'UPS Airlines',
  '810': 'Amerijet International',
};

export const CARRIERS = ['USPS', 'UPS', 'FedEx', 'DHL Express', 'Amazon Logistics', 'OnTrac'] as const;
export type Carrier = (typeof CARRIERS)[number];
