"""Human-like recall, paper B: events, their calibration, and how newer ones take their claim."""
