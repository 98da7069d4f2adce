"""The admission webhook: AdmissionReview in, AdmissionReview out. Pod rules live in podstrat.strategy."""
