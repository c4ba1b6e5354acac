export function HealthPage() {
  return <p>soon</p>;
}
