export function TourPage() {
  return <p>soon</p>;
}
