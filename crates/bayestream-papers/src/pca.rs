//! Principal components of pictures.

use crate::data::Images;
use bayestream::num::{self, Lanes};

/// Directions of largest variance and the mean they are taken about.
pub struct Pca {
    mean: Vec<f64>,
    /// One direction per row.
    axes: Vec<f64>,
}

/// Pictures turned to doubles at a time.
const BLOCK: usize = 64;

impl Pca {
    /// The first `n_axes` principal components of pictures with values in [0, 1].
    pub fn of(images: &Images, n_axes: usize) -> Pca {
        let d = images.n_pixels;
        let n = (images.pixels.len() / d) as f64;
        let (mut sum, mut scatter) = (vec![0.0; d], vec![0.0; d * d]);
        // Mid-grey is close enough to the mean for 8-bit values.
        let centre = vec![0.5; d];
        let mut lanes = Lanes::new();
        each_block(images, |rows| {
            lanes.load(rows, d);
            num::weighted_moments(&lanes, &vec![1.0; rows.len() / d], &centre, &mut sum, &mut scatter);
        });
        for i in 0..d {
            for j in 0..=i {
                scatter[i * d + j] = (scatter[i * d + j] - sum[i] * sum[j] / n) / n;
            }
        }
        let (mut values, mut axes) = (vec![0.0; d], vec![0.0; d * d]);
        num::symmetric_eigen(&scatter, d, &mut values, &mut axes);
        axes.truncate(n_axes.min(d) * d);
        Pca { mean: sum.iter().map(|s| 0.5 + s / n).collect(), axes }
    }

    /// Coordinates of pictures, row-major.
    pub fn coordinates(&self, images: &Images) -> Vec<f64> {
        let d = self.mean.len();
        let mut out = Vec::new();
        each_block(images, |rows| {
            for row in rows.chunks(d) {
                let centred: Vec<f64> = row.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
                out.extend(self.axes.chunks(d).map(|axis| axis.iter().zip(&centred).map(|(a, x)| a * x).sum::<f64>()));
            }
        });
        out
    }

    /// The picture at these coordinates, with values about [0, 1].
    pub fn picture(&self, coordinates: &[f64]) -> Vec<f64> {
        let mut out = self.mean.clone();
        for (axis, c) in self.axes.chunks(self.mean.len()).zip(coordinates) {
            out.iter_mut().zip(axis).for_each(|(o, a)| *o += c * a);
        }
        out
    }
}

fn each_block(images: &Images, mut visit: impl FnMut(&[f64])) {
    let mut rows = Vec::new();
    for pixels in images.pixels.chunks(BLOCK * images.n_pixels) {
        rows.clear();
        rows.extend(pixels.iter().map(|p| f64::from(*p) / 255.0));
        visit(&rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_centred_and_ordered_by_variance() {
        // Three pixels: the first two move together and far, the third a little and by itself.
        let pixels: Vec<u8> = (0..200u32)
            .flat_map(|i| {
                let (far, little) = (i * 37 % 200, i * 53 % 20);
                [far as u8, far as u8, 100 + little as u8]
            })
            .collect();
        let images = Images { n_pixels: 3, pixels };
        let coordinates = Pca::of(&images, 2).coordinates(&images);
        assert_eq!(coordinates.len(), 400);
        let variance = |j: usize| coordinates.chunks(2).map(|c| c[j] * c[j]).sum::<f64>() / 200.0;
        let mean = |j: usize| coordinates.chunks(2).map(|c| c[j]).sum::<f64>() / 200.0;
        assert!(mean(0).abs() < 1e-12 && mean(1).abs() < 1e-12);
        let far = 2.0 * (0..200).map(|i| (f64::from(i) - 99.5).powi(2)).sum::<f64>() / 200.0 / 255.0f64.powi(2);
        assert!((variance(0) - far).abs() < 0.01 * far && variance(1) < 0.02 * far);
        // All three axes lose nothing.
        let all = Pca::of(&images, 3);
        let back = all.picture(&all.coordinates(&images)[9..12]);
        for (back, pixel) in back.iter().zip(&images.pixels[9..12]) {
            assert!((back - f64::from(*pixel) / 255.0).abs() < 1e-12);
        }
    }
}
