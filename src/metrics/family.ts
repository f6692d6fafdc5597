/** A value of a metric. */
export interface Sample {
  labels: Record<string, string>
  value: number
  /** With a suffix, for a part of a histogram. */
  metricName?: string
}

/** A metric with its values, as prom-client has them. It can be sent to another process. */
export interface Family {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  /** What the values of several processes become. */
  aggregator: 'sum' | 'max' | 'min'
  values: Sample[]
}

type Values = number | Sample[]

const samplesOf = (values: Values): Sample[] => (typeof values === 'number' ? [{ labels: {}, value: values }] : values)

/** What only grows. */
export const counter = (name: string, help: string, values: Values): Family => ({
  name,
  help,
  type: 'counter',
  aggregator: 'sum',
  values: samplesOf(values),
})

/** What goes up and down. `aggregator` says what the values of several processes become. */
export const gauge = (name: string, help: string, values: Values, aggregator: Family['aggregator']): Family => ({
  name,
  help,
  type: 'gauge',
  aggregator,
  values: samplesOf(values),
})

/** Whether the family only grows, so that a process that ended still counts. */
export const isCounted = ({ type }: Family): boolean => type !== 'gauge'
